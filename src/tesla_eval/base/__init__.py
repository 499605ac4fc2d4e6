"""The base of all other packages: errors, arrays, files, threads, resource files, and shared record types."""
