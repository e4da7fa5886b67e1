"""What every stage stands on: errors, settings, threads, memory, operators. Private; nothing here is public API."""
