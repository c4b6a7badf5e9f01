// Lists the topics of a cluster with Sarama, once for each attempt on stdin, and prints what came of it as JSON.
package main

import (
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/IBM/sarama"
	"github.com/xdg-go/scram"
)

type attempt struct {
	Bootstrap, Mechanism, User, Password, TokenText, Ca, Certificate, Key string
	Keytab, Krb5, Service, Realm                                          string
	SessionMs                                                             int
	ShowTopics                                                            bool
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
	if a.Mechanism == sarama.SASLTypeGSSAPI { // its listener has no TLS
		config.Net.TLS.Enable = false
		config.Net.SASL.GSSAPI = sarama.GSSAPIConfig{
			AuthType: sarama.KRB5_KEYTAB_AUTH, KeyTabPath: a.Keytab, KerberosConfigPath: a.Krb5,
			ServiceName: a.Service, Username: a.User, Realm: a.Realm, DisablePAFXFAST: true,
		}
		return config, nil
	}
	config.Net.SASL.User, config.Net.SASL.Password = a.User, a.Password
	config.Net.SASL.TokenProvider = a
	hashes := map[string]scram.HashGeneratorFcn{"SCRAM-SHA-256": sha256.New, "SCRAM-SHA-512": sha512.New}
	config.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient {
		return &scramClient{hash: hashes[a.Mechanism]}
	}
	return config, nil
}

func (a attempt) run() (string, error) {
	config, err := a.config()
	if err != nil {
		return "", err
	}
	client, err := sarama.NewClient([]string{a.Bootstrap}, config)
	if err != nil {
		return "", err
	}
	defer client.Close()
	for start := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		if err := client.RefreshMetadata(); err != nil {
			return "", err
		}
		if time.Since(start) >= time.Duration(a.SessionMs)*time.Millisecond {
			break
		}
	}
	if !a.ShowTopics {
		return "ok", nil
	}
	topics, err := client.Topics()
	return strings.Join(append([]string{"ok"}, topics...), " "), err
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
			outcome, err := each.run()
			if err != nil {
				outcome = err.Error()
			}
			outcomes[number] = outcome
		}()
	}
	all.Wait()
	json.NewEncoder(os.Stdout).Encode(outcomes)
}
