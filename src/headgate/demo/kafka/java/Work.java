package headgate.loadjob;

import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;

/** Passes each record on, which takes a fixed time. */
final class Work extends ProcessFunction<String, String> {
  private static final long serialVersionUID = 1L;

  private final Cost cost;

  Work(double costUs) {
    cost = new Cost(costUs);
  }

  @Override
  public void processElement(String record, Context context, Collector<String> out) {
    cost.start();
    cost.finish();
    out.collect(record);
  }
}
