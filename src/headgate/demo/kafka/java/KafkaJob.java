package headgate.loadjob;

import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Pattern;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.KafkaSourceBuilder;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Copies one topic to another, exactly once, with some work for each record.
 *
 * <pre>
 *   brokers      host:port,host:port
 *   in, out      topics; "in" may be a pattern that begins with ~        in, out
 *   costUs       wall time of a subtask that each record takes           2000
 *   ckptMs       checkpoint interval                                     2000
 *   chain        whether source and work are one vertex                  false
 *   maxp         maximum parallelism                                     128
 *   name         the job's name, and its consumer group                  copy
 *   p.<name>     a property of the consumer
 * </pre>
 */
public final class KafkaJob {
  private final Map<String, String> given;

  private KafkaJob(Map<String, String> given) {
    this.given = given;
  }

  public static void main(String[] words) throws Exception {
    Map<String, String> given = new HashMap<>();
    for (String word : words) {
      int equals = word.indexOf('=');
      if (equals < 1) {
        throw new IllegalArgumentException("argument '" + word + "': expected key=value");
      }
      given.put(word.substring(0, equals), word.substring(equals + 1));
    }
    new KafkaJob(given).run();
  }

  private void run() throws Exception {
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
    environment.setMaxParallelism(Integer.parseInt(take("maxp", "128")));
    environment.enableCheckpointing(Long.parseLong(take("ckptMs", "2000")));
    var records = environment.fromSource(source(), WatermarkStrategy.noWatermarks(), "source").uid("source");
    var worked = records.process(new Work(Double.parseDouble(take("costUs", "2000")))).name("work").uid("work");
    if (!Boolean.parseBoolean(take("chain", "false"))) {
      worked.disableChaining();
    }
    worked.sinkTo(sink()).name("sink").uid("sink");
    environment.execute(take("name", "copy"));
  }

  private KafkaSource<String> source() {
    Properties properties = new Properties();
    given.forEach((key, value) -> {
      if (key.startsWith("p.")) {
        properties.setProperty(key.substring(2), value);
      }
    });
    KafkaSourceBuilder<String> builder =
        KafkaSource.<String>builder()
            .setBootstrapServers(given.get("brokers"))
            .setGroupId(take("name", "copy"))
            .setStartingOffsets(OffsetsInitializer.earliest())
            .setValueOnlyDeserializer(new SimpleStringSchema())
            .setProperties(properties);
    String in = take("in", "in");
    return (in.startsWith("~") ? builder.setTopicPattern(Pattern.compile(in.substring(1))) : builder.setTopics(in))
        .build();
  }

  private KafkaSink<String> sink() {
    return KafkaSink.<String>builder()
        .setBootstrapServers(given.get("brokers"))
        .setRecordSerializer(
            KafkaRecordSerializationSchema.<String>builder()
                .setTopic(take("out", "out"))
                .setValueSerializationSchema(new SimpleStringSchema())
                .build())
        .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .setTransactionalIdPrefix(take("name", "copy") + "-" + System.currentTimeMillis())
        .setProperty("transaction.timeout.ms", "60000")
        .build();
  }

  private String take(String key, String absent) {
    return given.getOrDefault(key, absent);
  }
}
