import { onTestFinished } from 'vitest';
import { startSimulator } from '../../../cli/simulator/start.ts';
import type { SimulatorOptions } from '../../../cli/simulator/start.ts';
import type { Simulator } from '../../../cli/simulator/simulator.ts';

/** A platform of a test's own, which ends with the test. */
export async function useSimulator(options?: SimulatorOptions): Promise<Simulator> {
  const simulator = await startSimulator(options);
  onTestFinished(() => simulator.close());
  return simulator;
}
