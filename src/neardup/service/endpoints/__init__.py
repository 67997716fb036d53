"""The endpoints of the service, by what they are about."""
