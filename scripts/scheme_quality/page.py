def write(known): pass
