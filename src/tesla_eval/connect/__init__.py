"""Integrations with other libraries: one module each, imported only when used."""
