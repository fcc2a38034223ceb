"""A Flink, a Spark and a Java that are not there: programs that behave as those they stand for, and cost nothing."""

from __future__ import annotations

from pathlib import Path

_JAVA = """\
#!/bin/sh
case "$*" in
*-version*)
    printf '    java.home = %s\\nopenjdk version "21.0.8"\\n' "{home}" >&2 ;;
*BashJavaUtils*=nonsense*)
    echo 'Exception in thread "main" flink.IllegalConfigurationException: nonsense is no size' >&2
    exit 1 ;;
*BashJavaUtils*)
    echo sized >>"{home}/sized"
    echo 'BASH_JAVA_UTILS_EXEC_RESULT:-Xmx320m'
    echo 'BASH_JAVA_UTILS_EXEC_RESULT:-D taskmanager.cpu.cores=1.0' ;;
*stubborn=true*)
    trap '' TERM
    exec sleep 600 ;;
*)
    echo "$*"
    exec sleep 600 ;;
esac
"""

_SPARK_CLASS = """\
#!/bin/sh
echo "$SPARK_WORKER_OPTS $*"
case "$*" in
*stubborn*) trap '' PWR TERM ;;
*) trap 'echo decommissioned' PWR ;;
esac
while :; do sleep 0.05; done
"""


def make_java(home: Path) -> Path:
    """
    Make the home of a Java whose TaskManagers sleep.

    It refuses a memory size of `nonsense`, and one with the setting `stubborn=true` does not end when it is asked to.
    Each time it divides memory it adds a line to the file `sized` in its home.
    """
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(_JAVA.format(home=home))
    program.chmod(0o755)
    return home


def make_flink(home: Path) -> Path:
    """Make the home of a Flink without anything in its jars."""
    (home / "lib").mkdir(parents=True)
    (home / "lib" / "flink-dist-2.3.0.jar").touch()
    return home


def make_spark(home: Path) -> Path:
    """
    Make the home of a Spark whose Workers sleep.

    They say what they were started with, and that they are decommissioned when they are. One of a master called
    `stubborn` does neither that nor end when it is asked to.
    """
    program = home / "bin" / "spark-class"
    program.parent.mkdir(parents=True)
    program.write_text(_SPARK_CLASS)
    program.chmod(0o755)
    return home
