// Lists the topics of a cluster with kafkajs, once for each attempt on stdin, and prints what came of it as JSON.
const fs = require("fs");
const { Kafka, logLevel } = require("kafkajs");

function config(a) {
  const ssl = { ca: [a.ca] };
  if (a.certificate) Object.assign(ssl, { cert: a.certificate, key: a.key });
  const found = { brokers: [a.bootstrap], ssl, logLevel: logLevel.NOTHING, retry: { retries: 1 }, connectionTimeout: 10000, reauthenticationThreshold: 2000 };
  if (a.mechanism === "OAUTHBEARER") {
    found.sasl = { mechanism: "oauthbearer", oauthBearerProvider: async () => ({ value: a.token }) };
  } else if (a.mechanism) {
    found.sasl = { mechanism: a.mechanism.toLowerCase(), username: a.user, password: a.password };
  }
  return found;
}

async function run(a) {
  const admin = new Kafka(config(a)).admin();
  try {
    await admin.connect();
    const start = Date.now();
    for (;;) {
      await admin.listTopics();
      if (Date.now() - start >= a.sessionMs) return "ok";
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  } catch (error) {
    return `${error.name}: ${error.message}`;
  } finally {
    await admin.disconnect().catch(() => {});
  }
}

Promise.all(JSON.parse(fs.readFileSync(0, "utf8")).map(run)).then((outcomes) => console.log(JSON.stringify(outcomes)));
