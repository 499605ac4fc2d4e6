"""Plugs for neighbours: one file each, none imported unless used."""
