"""Event handlers: how people and other systems are told; decorators over them merge and distribute."""
