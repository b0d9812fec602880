import { afterAll, beforeAll, beforeEach } from 'vitest';
import { startSimulator } from '../../simulator/start.ts';
import type { SimulatorOptions } from '../../simulator/start.ts';
import type { Simulator } from '../../simulator/simulator.ts';
import { startScriptedTool } from './scripted-tool.ts';
import type { ScriptedTool } from './scripted-tool.ts';

/** A platform and a small tool that it knows. Tests share them, as keys take time to make. */
export interface SimulatorLab {
  simulator: Simulator;
  scripted: ScriptedTool;
}

/** Starts both for the tests of one file, and ends them behind these. What is in the lab is there in tests. */
export function useSimulatorLab(options?: SimulatorOptions): SimulatorLab {
  const lab = {} as SimulatorLab;
  beforeAll(async () => {
    lab.simulator = await startSimulator(options);
    lab.scripted = await startScriptedTool(lab.simulator);
  });
  beforeEach(() => {
    lab.scripted.authorization = {};
    lab.scripted.launches = [];
    lab.simulator.heal();
  });
  afterAll(async () => {
    lab.scripted.close();
    await lab.simulator.close();
  });
  return lab;
}
