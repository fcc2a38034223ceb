"""Checks: each a function from facts to findings, which asks nothing and knows no time but that of the facts."""
