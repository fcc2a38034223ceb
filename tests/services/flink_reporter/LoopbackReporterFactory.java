package org.apache.flink.metrics.prometheus;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;

import io.prometheus.client.exporter.HTTPServer;
import org.apache.flink.metrics.reporter.MetricReporter;
import org.apache.flink.metrics.reporter.MetricReporterFactory;

/**
 * Makes Flink's own Prometheus reporter, but on the loopback, which the stock factory cannot. Each process takes a free
 * port and tells it in a file of the directory that the property `targets` names, as Prometheus discovers targets.
 */
public final class LoopbackReporterFactory implements MetricReporterFactory {
    @Override
    public MetricReporter createMetricReporter(Properties properties) {
        try {
            return new LoopbackReporter(Path.of(properties.getProperty("targets")));
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private static final class LoopbackReporter extends AbstractPrometheusReporter {
        private final HTTPServer server;

        LoopbackReporter(Path targets) throws IOException {
            server = new HTTPServer(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), registry, true);
            String target = "[{\"targets\": [\"127.0.0.1:" + server.getPort() + "\"]}]";
            Path unfinished = Files.createTempFile(targets, "target", ".part");
            Files.writeString(unfinished, target);
            Files.move(unfinished, targets.resolve(server.getPort() + ".json"));
        }

        @Override
        public void close() {
            server.stop();
            super.close();
        }
    }
}
