"""What there is to draw, as plain records: no drawing library is loaded here."""
