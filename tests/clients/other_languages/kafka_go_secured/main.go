// Lists the topics of a cluster with kafka-go, once for each attempt on stdin, and prints what came of it as JSON.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"os"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

type attempt struct {
	Bootstrap, Mechanism, User, Password, TokenText, Ca, Certificate, Key string
	SessionMs                                                             int
}

// kafka-go has no OAUTHBEARER of its own.
type bearer string

func (b bearer) Name() string { return "OAUTHBEARER" }

func (b bearer) Start(context.Context) (sasl.StateMachine, []byte, error) {
	return b, []byte("n,,\x01auth=Bearer " + string(b) + "\x01\x01"), nil
}

func (b bearer) Next(_ context.Context, challenge []byte) (bool, []byte, error) {
	if len(challenge) != 0 {
		return false, []byte("\x01"), nil
	}
	return true, nil, nil
}

func (a attempt) mechanism() (sasl.Mechanism, error) {
	switch a.Mechanism {
	case "":
		return nil, nil
	case "PLAIN":
		return plain.Mechanism{Username: a.User, Password: a.Password}, nil
	case "OAUTHBEARER":
		return bearer(a.TokenText), nil
	case "SCRAM-SHA-256":
		return scram.Mechanism(scram.SHA256, a.User, a.Password)
	}
	return scram.Mechanism(scram.SHA512, a.User, a.Password)
}

func (a attempt) transport() (*kafka.Transport, error) {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(a.Ca))
	config := &tls.Config{RootCAs: pool}
	if a.Certificate != "" {
		pair, err := tls.X509KeyPair([]byte(a.Certificate), []byte(a.Key))
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	mechanism, err := a.mechanism()
	return &kafka.Transport{TLS: config, SASL: mechanism, DialTimeout: time.Minute}, err
}

func (a attempt) run() error {
	transport, err := a.transport()
	if err != nil {
		return err
	}
	defer transport.CloseIdleConnections()
	client := &kafka.Client{Addr: kafka.TCP(a.Bootstrap), Timeout: time.Minute, Transport: transport}
	for start := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		// Metadata comes from a cache; this is asked each time.
		if _, err := client.ApiVersions(context.Background(), &kafka.ApiVersionsRequest{}); err != nil {
			return err
		}
		if time.Since(start) >= time.Duration(a.SessionMs)*time.Millisecond {
			return nil
		}
	}
}

func main() {
	var attempts []attempt
	if err := json.NewDecoder(os.Stdin).Decode(&attempts); err != nil {
		panic(err)
	}
	outcomes := make([]string, len(attempts))
	var all sync.WaitGroup
	for number, each := range attempts {
		all.Add(1)
		go func() {
			defer all.Done()
			outcomes[number] = "ok"
			if err := each.run(); err != nil {
				outcomes[number] = err.Error()
			}
		}()
	}
	all.Wait()
	json.NewEncoder(os.Stdout).Encode(outcomes)
}
