extension DelegateHub: Workplace {
  @usableFromInline
  nonisolated var executor: (any TaskExecutor)? { configuration.executor }

  @usableFromInline
  nonisolated var activity: Activity { inbox.activity }
}
