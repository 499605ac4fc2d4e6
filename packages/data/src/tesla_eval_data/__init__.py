"""The models and tables of tesla-eval. Each file says in its header what it was made from and under which licence."""

__version__ = "1.0"
