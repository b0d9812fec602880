/** What a process needed at most since it was last asked. */
export interface Costs {
  /** The longest block of its event loop, in milliseconds of CPU time. */
  block: number;
  /** The longest delay of its event loop, in milliseconds: also that by other processes on a busy machine. */
  delay: number;
  /** Its memory, in megabytes. */
  memory: number;
  /** The memory of its largest child process, in megabytes; 0 where Linux does not tell. */
  childMemory: number;
}

const recorder = `
  import { readFileSync } from 'node:fs';
  const cpuMs = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
  const none = { block: 0, delay: 0, memory: 0, childMemory: 0 };
  let [cpu, time, most] = [cpuMs(), performance.now(), { ...none }];
  const raise = (name, value) => { most[name] = Math.max(most[name], value); };
  const note = () => {
    const [nowCpu, now] = [cpuMs(), performance.now()];
    raise('block', nowCpu - cpu);
    raise('delay', now - time - 5);
    [cpu, time] = [nowCpu, now];
  };
  const noteMemory = () => {
    raise('memory', process.memoryUsage.rss() / 1e6);
    try {
      const children = readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8').split(' ');
      for (const pid of children.filter(Boolean))
        raise('childMemory', Number(readFileSync('/proc/' + pid + '/status', 'utf8').match(/VmRSS:\\s+(\\d+)/)[1]) * 1024 / 1e6);
    } catch {}
  };
  setInterval(note, 5).unref();
  setInterval(noteMemory, 50).unref();
  process.on('message', (message) => {
    if (message !== 'costs') return;
    note();
    noteMemory();
    process.send(Object.fromEntries(Object.entries(most).map(([name, value]) => [name, Math.round(value)])));
    most = { ...none };
  });
  process.channel.unref();
`;

/** Arguments of Node.js for a process whose {@link costs} are asked for. */
export const recording = ['--import', `data:text/javascript,${encodeURIComponent(recorder)}`];

/** Returns what a process needed since the last call. */
export async function costs({ ask }: { ask: (message: string) => Promise<unknown> }): Promise<Costs> {
  return (await ask('costs')) as Costs;
}
