// A test that imports this module has the hub with it.
@_exported public import Delegation
