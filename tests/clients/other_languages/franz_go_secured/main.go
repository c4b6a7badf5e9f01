// Lists the topics of a cluster with franz-go, once for each attempt on stdin, and prints what came of it as JSON.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"os"
	"sync"
	"time"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/kerberos"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

type attempt struct {
	Bootstrap, Mechanism, User, Password, Token, Ca, Certificate, Key string
	Keytab, Krb5, Service, Realm                                      string
	SessionMs                                                         int
	ShowTopics                                                        bool
}

const limit = 10 * time.Second

func (a attempt) tls() (*tls.Config, error) {
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
	return config, nil
}

func (a attempt) mechanism() sasl.Mechanism {
	switch a.Mechanism {
	case "PLAIN":
		return plain.Auth{User: a.User, Pass: a.Password}.AsMechanism()
	case "SCRAM-SHA-256":
		return scram.Auth{User: a.User, Pass: a.Password}.AsSha256Mechanism()
	case "SCRAM-SHA-512":
		return scram.Auth{User: a.User, Pass: a.Password}.AsSha512Mechanism()
	case "GSSAPI":
		return a.kerberos().AsMechanism()
	}
	return oauth.Auth{Token: a.Token}.AsMechanism()
}

func (a attempt) kerberos() kerberos.Auth {
	settings, err := config.Load(a.Krb5)
	if err != nil {
		panic(err)
	}
	keys, err := keytab.Load(a.Keytab)
	if err != nil {
		panic(err)
	}
	own := client.NewWithKeytab(a.User, a.Realm, keys, settings, client.DisablePAFXFAST(true))
	return kerberos.Auth{Client: own, Service: a.Service}
}

func (a attempt) run() (string, error) {
	config, err := a.tls()
	if err != nil {
		return "", err
	}
	options := []kgo.Opt{kgo.SeedBrokers(a.Bootstrap), kgo.RequestRetries(2)}
	if a.Mechanism != "GSSAPI" { // its listener has no TLS
		options = append(options, kgo.DialTLSConfig(config))
	}
	if a.Mechanism != "" {
		options = append(options, kgo.SASL(a.mechanism()))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return "", err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), limit+time.Duration(a.SessionMs)*time.Millisecond)
	defer cancel()
	for start := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		found, err := kmsg.NewPtrMetadataRequest().RequestWith(ctx, client)
		if err != nil {
			return "", err
		}
		if time.Since(start) < time.Duration(a.SessionMs)*time.Millisecond {
			continue
		}
		outcome := "ok"
		for _, topic := range found.Topics {
			if a.ShowTopics {
				outcome += " " + *topic.Topic
			}
		}
		return outcome, nil
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
