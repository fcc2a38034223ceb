package headgate.loadjob;

import java.io.Serializable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Makes each record take a fixed wall time of the task's thread, by sleeping, so that a subtask's capacity is
 * 1 / cost whatever the machine. Book-keeping of time owed makes the mean exact although a single sleep is not:
 * what the record's own work or an overlong sleep took is paid already. Idle time is never paid for, so there
 * is no credit to burst with after a pause.
 */
final class Cost implements Serializable {
  private static final long serialVersionUID = 1L;

  /** A shorter sleep is mostly the sleep's own overhead; smaller costs add up to this first. */
  private static final long SHORTEST_SLEEP_NS = TimeUnit.MILLISECONDS.toNanos(1);

  /** A pause no longer than this between two records is Flink's work for the record, not waiting for input. */
  private static final long OVERHEAD_NS = TimeUnit.MICROSECONDS.toNanos(100);

  /** The most that is ever paid in advance: a longer stall of the machine is lost capacity. */
  private static final long MOST_PAID_AHEAD_NS = TimeUnit.MILLISECONDS.toNanos(50);

  private final long costNs;
  private transient long owedNs;
  private transient long startedNs;
  private transient long finishedNs;

  Cost(double costUs) {
    costNs = Math.round(costUs * 1000);
  }

  /** To be called before a record's own work. */
  void start() {
    startedNs = System.nanoTime();
    long pause = startedNs - finishedNs;
    if (pause <= OVERHEAD_NS) {
      owedNs -= pause;
    }
  }

  /** To be called after it: sleeps for what is left of the cost. */
  void finish() {
    finishedNs = System.nanoTime();
    owedNs += costNs - (finishedNs - startedNs);
    if (owedNs >= SHORTEST_SLEEP_NS) {
      sleep();
    }
    owedNs = Math.max(owedNs, -MOST_PAID_AHEAD_NS);
  }

  private void sleep() {
    LockSupport.parkNanos(owedNs);
    long woken = System.nanoTime();
    owedNs -= woken - finishedNs;
    finishedNs = woken;
  }
}
