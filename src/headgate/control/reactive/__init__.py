"""Reactive mode's side of the control loop: jobs that follow the slots, and workers that follow the need (FLIP-159)."""
