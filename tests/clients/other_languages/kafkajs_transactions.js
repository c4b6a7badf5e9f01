// Writes six transactions with kafkajs, every second one aborted, and prints what is seen of them as a line of JSON.
// Arguments: the bootstrap servers and a topic with two partitions.

const { Kafka, logLevel } = require('kafkajs');

const TRANSACTIONS = 6;
const [brokers, topic] = process.argv.slice(2);
const kafka = new Kafka({ clientId: 'kafkajs', brokers: brokers.split(','), logLevel: logLevel.ERROR });

async function write() {
  const producer = kafka.producer({ transactionalId: topic, maxInFlightRequests: 1, idempotent: true });
  await producer.connect();
  for (let number = 0; number < TRANSACTIONS; number++) {
    const transaction = await producer.transaction();
    await transaction.send({
      topic,
      messages: [{ value: `${number}-a`, partition: 0 }, { value: `${number}-b`, partition: 1 }],
    });
    await transaction.sendOffsets({
      consumerGroupId: topic,
      topics: [{ topic, partitions: [{ partition: 0, offset: String(number) }] }],
    });
    await (number % 2 ? transaction.abort() : transaction.commit());
  }
  await producer.disconnect();
}

async function committedOffset() {
  const admin = kafka.admin();
  await admin.connect();
  const [{ partitions }] = await admin.fetchOffsets({ groupId: topic, topics: [topic] });
  await admin.disconnect();
  return Number(partitions.find(({ partition }) => partition === 0).offset);
}

// Reads all partitions up to a record that is written last, without a transaction.
async function read() {
  const producer = kafka.producer();
  await producer.connect();
  await producer.send({ topic, messages: [{ value: 'end', partition: 0 }, { value: 'end', partition: 1 }] });
  await producer.disconnect();
  const consumer = kafka.consumer({ groupId: `${topic}-readers` });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  const seen = [];
  let ends = 0;
  await new Promise((resolve) => consumer.run({
    eachMessage: async ({ message }) => {
      const value = message.value.toString();
      if (value !== 'end') seen.push(value);
      else if (++ends === 2) resolve();
    },
  }));
  await consumer.disconnect();
  return seen.sort();
}

(async () => {
  await write();
  console.log(JSON.stringify({ committedOffset: await committedOffset(), seen: await read() }));
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
