// Copies a topic with Sarama's consumer group and its transactional producer, exactly once, and prints as a line of JSON
// what committed and uncommitted readers see of the copies. Arguments: the bootstrap servers, the source and the target.
// Half of the source's transactions are aborted, and one of the copier's.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/IBM/sarama"
)

const (
	transactions = 6
	records      = 3
	committed    = transactions / 2 * records
	aborted      = 4 // of the copier's transactions, which have a record each
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func config(isolation sarama.IsolationLevel) *sarama.Config {
	config := sarama.NewConfig()
	config.Version = sarama.MaxVersion
	config.Consumer.IsolationLevel = isolation
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Producer.Return.Successes = true
	return config
}

func transactionalProducer(brokers []string, id string) sarama.SyncProducer {
	config := config(sarama.ReadCommitted)
	config.Producer.Transaction.ID = id
	config.Producer.Idempotent = true
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Net.MaxOpenRequests = 1
	producer, err := sarama.NewSyncProducer(brokers, config)
	check(err)
	return producer
}

func send(producer sarama.SyncProducer, topic, value string) {
	_, _, err := producer.SendMessage(&sarama.ProducerMessage{Topic: topic, Value: sarama.StringEncoder(value)})
	check(err)
}

func write(brokers []string, source string) {
	producer := transactionalProducer(brokers, source)
	defer producer.Close()
	for transaction := 0; transaction < transactions; transaction++ {
		check(producer.BeginTxn())
		for record := 0; record < records; record++ {
			send(producer, source, fmt.Sprintf("%d-%d", transaction, record))
		}
		if transaction%2 == 0 {
			check(producer.CommitTxn())
		} else {
			check(producer.AbortTxn())
		}
	}
}

// copier is the consumer group's handler.
type copier struct {
	producer     sarama.SyncProducer
	target       string
	copied, ends int // committed transactions, and all
}

func (c *copier) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (c *copier) Cleanup(sarama.ConsumerGroupSession) error { return nil }

// ConsumeClaim returns after an abort: the group's next session begins at the committed offset, which is that of the
// record whose copy was aborted.
func (c *copier) ConsumeClaim(_ sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for message := range claim.Messages() {
		check(c.producer.BeginTxn())
		send(c.producer, c.target, string(message.Value))
		check(c.producer.AddMessageToTxn(message, c.target, nil))
		c.ends++
		if c.ends-1 == aborted {
			return c.producer.AbortTxn()
		}
		check(c.producer.CommitTxn())
		if c.copied++; c.copied == committed {
			return nil
		}
	}
	return nil
}

func copyTo(brokers []string, source, target string) {
	group, err := sarama.NewConsumerGroup(brokers, target, config(sarama.ReadCommitted))
	check(err)
	defer group.Close()
	handler := &copier{producer: transactionalProducer(brokers, target), target: target}
	defer handler.producer.Close()
	for handler.copied < committed {
		check(group.Consume(context.Background(), []string{source}, handler))
	}
}

const end = "end"

// Written last, without a transaction.
func writeEnd(brokers []string, topic string) {
	producer, err := sarama.NewSyncProducer(brokers, config(sarama.ReadCommitted))
	check(err)
	defer producer.Close()
	send(producer, topic, end)
}

func read(brokers []string, topic string, isolation sarama.IsolationLevel) []string {
	consumer, err := sarama.NewConsumer(brokers, config(isolation))
	check(err)
	defer consumer.Close()
	partition, err := consumer.ConsumePartition(topic, 0, sarama.OffsetOldest)
	check(err)
	defer partition.Close()
	values := []string{}
	for message := range partition.Messages() {
		if string(message.Value) == end {
			break
		}
		values = append(values, string(message.Value))
	}
	return values
}

func main() {
	brokers, source, target := strings.Split(os.Args[1], ","), os.Args[2], os.Args[3]
	write(brokers, source)
	copyTo(brokers, source, target)
	writeEnd(brokers, target)
	check(json.NewEncoder(os.Stdout).Encode(map[string][]string{
		"committed":   read(brokers, target, sarama.ReadCommitted),
		"uncommitted": read(brokers, target, sarama.ReadUncommitted),
	}))
}
