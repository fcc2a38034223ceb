"""The load job: a Flink job whose load and capacity are known exactly, and what it can be told."""

from __future__ import annotations

from headgate.demo.loadjob.build import ENTRY_CLASS, build_jar
from headgate.demo.loadjob.profile import (
    ConstantProfile,
    FileProfile,
    Profile,
    RampProfile,
    SineProfile,
    StepProfile,
)
from headgate.demo.loadjob.spec import SINK, SOURCE, LoadJobSpec
from headgate.demo.loadjob.stage import Stage

__all__ = [
    "ENTRY_CLASS",
    "SINK",
    "SOURCE",
    "ConstantProfile",
    "FileProfile",
    "LoadJobSpec",
    "Profile",
    "RampProfile",
    "SineProfile",
    "Stage",
    "StepProfile",
    "build_jar",
]
