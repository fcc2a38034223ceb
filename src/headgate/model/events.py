"""Events: what people and other systems are told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from headgate.model.identity import JobKey


class EventType(StrEnum):
    """Whether somebody should look."""

    DEBUG = "Debug"
    """For whoever looks into it: in the log, at level debug, and in no other handler."""
    NORMAL = "Normal"
    WARNING = "Warning"


class EventReason(StrEnum):
    """What an event is about; the reference autoscaler's names where it has one."""

    SCALING_REPORT = "ScalingReport"
    """A rescale, or in advice mode what it would be."""
    SCALING = "Scaling"
    """The engine was asked for another parallelism, and took it."""
    INEFFECTIVE_SCALING = "IneffectiveScaling"
    """The last growth of a vertex brought less than the least share of what was expected."""
    AGREEMENT_AT_RISK = "AgreementAtRisk"
    """A job is, or is predicted to be, further behind or for longer than its `sla` options allow; with the numbers."""
    SCALING_LIMITED = "ScalingLimited"
    """Alignment of the older kind moved or stopped a change."""
    MEMORY_PRESSURE = "MemoryPressure"
    """Garbage collection or heap use is above its threshold: nothing is scaled."""
    RESOURCE_QUOTA_REACHED = "ResourceQuotaReached"
    """A growth would exceed the job's quota and is not made."""
    CONFIGURATION_DEFERRED = "ConfigurationDeferred"
    """A change of the job's configuration waits for its next start: the running job cannot take it."""
    CONFIGURATION_RECOMMENDATION = "ConfigurationRecommendation"
    """Memory settings that fit what was measured; with memory tuning disabled for the log alone, at level debug."""
    SCALING_VETOED = "ScalingVetoed"
    """A decision plugin forbade a rescale."""
    PLUGIN_FAILED = "PluginFailed"
    """A plugin raised, hung or gave nonsense, and its job went without it in that cycle."""
    JOB_UNRECOVERABLE = "JobUnrecoverable"
    """A checker says that a job will not recover by itself; nothing is scaled while it says so."""
    ROLLBACK = "Rollback"
    """A rescale that made its job sick is taken back; the message says what was seen, and what holds afterwards."""
    ROLLBACK_WITHHELD = "RollbackWithheld"
    """A job is sick after a rescale that is not taken back; the message says why not."""
    ROLLBACK_IN_VAIN = "RollbackInVain"
    """A job is sick also after its rollback; it is left alone until it is well or somebody changes it."""
    MEMORY_RAISED = "MemoryRaised"
    """A job that its rescale made sick gets more memory, instead of a rollback."""
    PAUSED = "Paused"
    """Somebody has ordered that nothing is changed of a job; it is observed and evaluated on."""
    RESUMED = "Resumed"
    """That order was taken back."""
    OPTIONS_INVALID = "OptionsInvalid"
    """A job's own options are faulty; the ones of the service hold for it instead."""
    OPTIONS_RELOADED = "OptionsReloaded"
    """Headgate's own file has changed and was taken over; the message names what still needs a restart."""
    OPTIONS_REFUSED = "OptionsRefused"
    """Headgate's own file has changed and is faulty; what held before still holds."""
    RESCALE_REACHED = "RescaleReached"
    """The new parallelism runs; the message says how long after the decision that began, by the engine if it tells."""
    RESCALE_NOT_REACHED = "RescaleNotReached"
    """The running parallelism did not reach the target in time; the message says what is tried next."""
    AUTOSCALER_ERROR = "AutoscalerError"
    """A part of one job's cycle failed; the message says which. That it does not answer while we change it is none."""
    SIGNAL_UNAVAILABLE = "SignalUnavailable"
    """An external metric could not be read; jobs that use it do not shrink once its last value is too old."""
    OFFSETS_UNAVAILABLE = "OffsetsUnavailable"
    """
    No brokers are declared for a job that reads Kafka, or they do not tell where its topics end; the message says what
    is done meanwhile.
    """
    INPUT_CUT_OFF = "InputCutOff"
    """A source cannot reach what it reads; nothing is decided for its job until it does."""
    CLUSTER_UNREACHABLE = "ClusterUnreachable"
    """A cluster stopped answering; its jobs are left alone until it answers again."""
    CLUSTER_REACHABLE = "ClusterReachable"
    """A cluster answers (again)."""
    QUERY_FAILED = "QueryFailed"
    """A streaming query of an application ended by an exception; Headgate goes on with the others."""
    JOB_VANISHED = "JobVanished"
    """A job ended or is no longer listed."""
    JOB_APPEARED = "JobAppeared"
    """A job is looked after from now on."""
    WORKERS_REQUESTED = "WorkersRequested"
    """More or fewer workers were asked for, or in advice mode would be."""
    WORKERS_FAILED = "WorkersFailed"
    """A cluster's workers could not be counted or changed; it is tried again in the next cycle."""
    SLOTS_SHORT = "SlotsShort"
    """A reactive job cannot have the slots that it needs at least, and is left waiting."""
    SHARE_HELD = "ShareHeld"
    """A reactive job was asked to have more than its share of the slots, and now is given no more than it runs at."""
    REACTIVE_UNSUITABLE = "ReactiveUnsuitable"
    """A job is not fit for reactive mode, for all of the reasons named, and is left alone."""
    JOBS_DIVIDED = "JobsDivided"
    """Another Headgate shares the state store and looks after its part of the jobs; told once a start."""
    INTENT_RECOVERED = "IntentRecovered"
    """An open change was closed without having been seen: the job or its owner's wish is no longer the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """
    One thing that happened.

    Attributes:
        key: the same for the same happening, so that a handler can merge repetitions and a receiver can
            recognise a second delivery.
        merge_interval: repetitions of `key` within it are one event; None never merges.
    """

    at: datetime
    type: EventType
    reason: EventReason
    message: str
    key: str
    subject: JobKey | str
    """The job, or the name of the cluster."""
    fields: Mapping[str, str | int | float] = field(default_factory=dict)
    merge_interval: timedelta | None = None
