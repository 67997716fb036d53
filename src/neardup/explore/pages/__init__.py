"""The pages: each is a function of the site and the request."""
