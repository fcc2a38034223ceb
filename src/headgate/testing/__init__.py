"""The test kit that ships with Headgate: fakes for tests, demos and benchmarks. The package itself never imports it."""
