// A consumer group of @platformatic/kafka, which consumes only from brokers that know the ids of topics.
// Arguments: bootstrap server, topic, group, the folder of the installed modules.
const [bootstrap, topic, groupId, modules] = process.argv.slice(2)
const { Consumer, Producer, stringDeserializers, stringSerializers } = await import(
  `${modules}/@platformatic/kafka/dist/index.js`
)
const bootstrapBrokers = [bootstrap]

async function produce(values) {
  const producer = new Producer({ clientId: 'producer', bootstrapBrokers, serializers: stringSerializers })
  await producer.send({ messages: values.map(value => ({ topic, key: value, value })) })
  await producer.close()
}

async function consume(mode, count) {
  const consumer = new Consumer({ groupId, clientId: 'consumer', bootstrapBrokers, deserializers: stringDeserializers })
  const stream = await consumer.consume({ topics: [topic], mode, autocommit: false, fallbackMode: 'earliest' })
  const seen = []
  for await (const message of stream) {
    seen.push(message.value)
    await message.commit()
    if (seen.length === count) break
  }
  await consumer.close(true)
  return seen.sort()
}

await produce(['a', 'b', 'c', 'd'])
const first = await consume('earliest', 4)
await produce(['e', 'f'])
const second = await consume('committed', 2)
console.log(JSON.stringify({ first, second }))
process.exit(0)
