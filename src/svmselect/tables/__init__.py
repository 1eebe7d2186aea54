"""Tables on disk: read in pieces, typed column by column, encoded as numbers, and remembered."""

from svmselect.tables.encoder import Encoder
from svmselect.tables.gather import gather
from svmselect.tables.model import TableModel
from svmselect.tables.source import Source, open_source
from svmselect.tables.table import Table

__all__ = ["Encoder", "Source", "Table", "TableModel", "gather", "open_source"]
