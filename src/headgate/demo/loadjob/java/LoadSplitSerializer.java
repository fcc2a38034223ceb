package headgate.loadjob;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/** Writes a list of splits as plain numbers; the reader's state is a list of one each. */
final class LoadSplitSerializer implements SimpleVersionedSerializer<List<LoadSplit>> {
  @Override
  public int getVersion() {
    return 1;
  }

  @Override
  public byte[] serialize(List<LoadSplit> splits) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeInt(splits.size());
    for (LoadSplit split : splits) {
      out.writeInt(split.partition());
      out.writeLong(split.offset());
      out.writeLong(split.preloaded());
    }
    return bytes.toByteArray();
  }

  @Override
  public List<LoadSplit> deserialize(int version, byte[] bytes) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
    int count = in.readInt();
    List<LoadSplit> splits = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      splits.add(new LoadSplit(in.readInt(), in.readLong(), in.readLong()));
    }
    return splits;
  }

  /** The same for one split. */
  static final class Single implements SimpleVersionedSerializer<LoadSplit> {
    private final LoadSplitSerializer list = new LoadSplitSerializer();

    @Override
    public int getVersion() {
      return list.getVersion();
    }

    @Override
    public byte[] serialize(LoadSplit split) throws IOException {
      return list.serialize(List.of(split));
    }

    @Override
    public LoadSplit deserialize(int version, byte[] bytes) throws IOException {
      return list.deserialize(version, bytes).get(0);
    }
  }
}
