"""What objects hold and whose code is whose, read without running code of the user's."""
