// A module that imports this one has the hub with it.
@_exported public import Delegation
