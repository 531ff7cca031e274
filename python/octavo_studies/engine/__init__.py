"""What runs any study: settings, runs that are kept, what was found, pictures, the command."""
