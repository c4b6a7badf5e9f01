// Lists the topics of a cluster with Sarama, once for each attempt on stdin, and prints what came of it as JSON.
package main

import (
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"os"
	"sync"
	"time"

	"github.com/IBM/sarama"
	"github.com/xdg-go/scram"
)

type attempt struct {
	Bootstrap, Mechanism, User, Password, TokenText, Ca, Certificate, Key string
	SessionMs                                                             int
}

type scramClient struct {
	*scram.ClientConversation
	hash scram.HashGeneratorFcn
}

func (c *scramClient) Begin(user, password, authorization string) error {
	client, err := c.hash.NewClient(user, password, authorization)
	if err == nil {
		c.ClientConversation = client.NewConversation()
	}
	return err
}

func (a attempt) Token() (*sarama.AccessToken, error) {
	return &sarama.AccessToken{Token: a.TokenText}, nil
}

func (a attempt) config() (*sarama.Config, error) {
	config := sarama.NewConfig()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(a.Ca))
	config.Net.TLS.Enable = true
	config.Net.TLS.Config = &tls.Config{RootCAs: pool}
	config.Metadata.Retry.Max = 1
	config.Net.DialTimeout = 10 * time.Second
	if a.Certificate != "" {
		pair, err := tls.X509KeyPair([]byte(a.Certificate), []byte(a.Key))
		if err != nil {
			return nil, err
		}
		config.Net.TLS.Config.Certificates = []tls.Certificate{pair}
	}
	if a.Mechanism == "" {
		return config, nil
	}
	config.Net.SASL.Enable = true
	config.Net.SASL.Mechanism = sarama.SASLMechanism(a.Mechanism)
	config.Net.SASL.User, config.Net.SASL.Password = a.User, a.Password
	config.Net.SASL.TokenProvider = a
	hashes := map[string]scram.HashGeneratorFcn{"SCRAM-SHA-256": sha256.New, "SCRAM-SHA-512": sha512.New}
	config.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient {
		return &scramClient{hash: hashes[a.Mechanism]}
	}
	return config, nil
}

func (a attempt) run() error {
	config, err := a.config()
	if err != nil {
		return err
	}
	client, err := sarama.NewClient([]string{a.Bootstrap}, config)
	if err != nil {
		return err
	}
	defer client.Close()
	for start := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		if err := client.RefreshMetadata(); err != nil {
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
