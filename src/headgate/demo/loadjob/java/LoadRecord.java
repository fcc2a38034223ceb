package headgate.loadjob;

/** One record on its way through the job; a Flink POJO, so that no generic serializer is involved. */
public class LoadRecord {
  public long key;
  public long emittedMs;

  /** Fills keyed state before the load starts: costs nothing and ends at the first keyed stage it reaches. */
  public boolean preload;

  public LoadRecord() {}

  static LoadRecord load(long key) {
    return of(key, false);
  }

  static LoadRecord preload(long key) {
    return of(key, true);
  }

  private static LoadRecord of(long key, boolean preload) {
    LoadRecord made = new LoadRecord();
    made.key = key;
    made.emittedMs = System.currentTimeMillis();
    made.preload = preload;
    return made;
  }
}
