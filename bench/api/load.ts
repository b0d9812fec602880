import autocannon from 'autocannon';

/** One go at a server; what the parent sends to this process. */
export interface Load {
  url: string;
  requests: autocannon.Request[];
  connections: number;
  seconds: number;
}

/** What the go came to; what this process answers with. */
export interface LoadResult {
  /** Answers of 2xx. */
  perSecond: number;
  /** Milliseconds. */
  p99: number;
  /** Other answers, and connections that failed. */
  failures: number;
}

/* The clients, in a process of their own: neither server pays for them, and both have the same ones. */
process.on('message', ({ url, requests, connections, seconds }: Load) => {
  void autocannon({ url, requests, connections, duration: seconds }).then((result) => {
    const answer: LoadResult = {
      perSecond: result['2xx'] / result.duration,
      p99: result.latency.p99,
      failures: result.non2xx + result.errors,
    };
    process.send?.(answer);
  });
});
process.on('disconnect', () => process.exit());
