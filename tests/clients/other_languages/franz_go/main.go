// Copies a topic with franz-go's GroupTransactSession, exactly once, and prints the copies as a line of JSON.
// Arguments: the bootstrap servers, the source and the target. Half of the source's transactions are aborted, and a
// third of the copier's.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	transactions = 6
	records      = 3
	committed    = transactions / 2 * records
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(ctx context.Context, seeds kgo.Opt, source string) {
	client, err := kgo.NewClient(seeds, kgo.TransactionalID(source), kgo.DefaultProduceTopic(source))
	check(err)
	defer client.Close()
	for transaction := 0; transaction < transactions; transaction++ {
		check(client.BeginTransaction())
		for record := 0; record < records; record++ {
			value := fmt.Sprintf("%d-%d", transaction, record)
			check(client.ProduceSync(ctx, kgo.StringRecord(value)).FirstErr())
		}
		check(client.EndTransaction(ctx, kgo.TransactionEndTry(transaction%2 == 0)))
	}
}

func copyTo(ctx context.Context, seeds kgo.Opt, source, target string) {
	session, err := kgo.NewGroupTransactSession(seeds, kgo.TransactionalID(target), kgo.ConsumerGroup(target),
		kgo.ConsumeTopics(source), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.DefaultProduceTopic(target))
	check(err)
	defer session.Close()
	for copied, ends := 0, 1; copied < committed; ends++ {
		fetches := session.PollRecords(ctx, 2)
		check(fetches.Err())
		check(session.Begin())
		fetches.EachRecord(func(record *kgo.Record) {
			session.Produce(ctx, kgo.StringRecord(string(record.Value)), nil)
		})
		hasCommitted, err := session.End(ctx, kgo.TransactionEndTry(ends%3 != 0))
		check(err)
		if hasCommitted {
			copied += fetches.NumRecords()
		}
	}
}

// Reads up to a record that is written last, without a transaction.
func read(ctx context.Context, seeds kgo.Opt, topic string) []string {
	const end = "end"
	client, err := kgo.NewClient(seeds, kgo.DefaultProduceTopic(topic), kgo.ConsumeTopics(topic),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	check(err)
	defer client.Close()
	check(client.ProduceSync(ctx, kgo.StringRecord(end)).FirstErr())
	values := []string{}
	for {
		fetches := client.PollFetches(ctx)
		check(fetches.Err())
		for _, record := range fetches.Records() {
			if string(record.Value) == end {
				return values
			}
			values = append(values, string(record.Value))
		}
	}
}

func main() {
	ctx := context.Background()
	seeds, source, target := kgo.SeedBrokers(strings.Split(os.Args[1], ",")...), os.Args[2], os.Args[3]
	write(ctx, seeds, source)
	copyTo(ctx, seeds, source, target)
	check(json.NewEncoder(os.Stdout).Encode(read(ctx, seeds, target)))
}
