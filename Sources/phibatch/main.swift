print("phibatch")
