import { createHistogram } from 'node:perf_hooks';
import autocannon from 'autocannon';

/** One run against a server, as the parent process sends it. */
export interface Load {
  url: string;
  requests: autocannon.Request[];
  connections: number;
  seconds: number;
}

/** The result of a run, which this process returns. */
export interface LoadResult {
  /** Responses with 2xx. */
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Other responses, and failed connections. */
  failures: number;
}

/* The clients, in a separate process, so that both servers have the same ones and pay for none. */
process.on('message', ({ url, requests, connections, seconds }: Load) => {
  let clients = 0;
  // In microseconds: autocannon's own histogram has whole milliseconds.
  const latencies = createHistogram();
  // Each connection begins elsewhere, so that they do not all send the same request at the same time.
  const setupClient = (client: autocannon.Client) => {
    const start = Math.floor((requests.length * clients++) / connections);
    client.setRequests([...requests.slice(start), ...requests.slice(0, start)]);
    client.on('response', (_status: number, _bytes: number, milliseconds: number) => {
      latencies.record(Math.max(1, Math.round(milliseconds * 1000)));
    });
  };
  void autocannon({ url, requests, connections, duration: seconds, setupClient }).then((result) => {
    const answer: LoadResult = {
      perSecond: result['2xx'] / result.duration,
      p50: latencies.percentile(50) / 1000,
      p99: latencies.percentile(99) / 1000,
      failures: result.non2xx + result.errors,
    };
    process.send?.(answer);
  });
});
process.on('disconnect', () => process.exit());
