// Produces or consumes records at a pace, and prints the seconds that this took as JSON. Arguments: the bootstrap servers,
// the client id, "produce" or "consume", the topic, the number of records, their size, and how many it wants per second.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/IBM/sarama"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	check(err)
	return value
}

func main() {
	client, mode, topic := os.Args[2], os.Args[3], os.Args[4]
	count, size, perSecond := number(os.Args[5]), number(os.Args[6]), number(os.Args[7])
	config := sarama.NewConfig()
	config.Version = sarama.V2_8_0_0
	config.ClientID = client
	config.Producer.Return.Successes = true
	config.Net.ReadTimeout = 5 * time.Minute
	config.Net.MaxOpenRequests = 1
	config.Consumer.Fetch.Default = int32(2 * size)
	config.ChannelBufferSize = 1
	config.Consumer.MaxProcessingTime = time.Minute
	started := time.Now()
	pace := func(done int) {
		due := started.Add(time.Duration(done) * time.Second / time.Duration(perSecond))
		time.Sleep(time.Until(due))
	}
	if mode == "produce" {
		producer, err := sarama.NewSyncProducer([]string{os.Args[1]}, config)
		check(err)
		value := sarama.ByteEncoder(make([]byte, size))
		for done := 0; done < count; done++ {
			pace(done)
			_, _, err := producer.SendMessage(&sarama.ProducerMessage{Topic: topic, Value: value})
			check(err)
		}
	} else {
		consumer, err := sarama.NewConsumer([]string{os.Args[1]}, config)
		check(err)
		partition, err := consumer.ConsumePartition(topic, 0, sarama.OffsetOldest)
		check(err)
		for done := 0; done < count; done++ {
			pace(done)
			<-partition.Messages()
		}
	}
	fmt.Printf("{\"seconds\": %.3f}\n", time.Since(started).Seconds())
}
