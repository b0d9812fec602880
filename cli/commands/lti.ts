import type { Command } from 'commander';
import { addScoreCommands } from './lti-scores.ts';
import { addSimulateCommand } from '../../simulator/command.ts';

/** `lectern lti …` */
export function addLtiCommands(program: Command): void {
  const lti = program.command('lti').description('what goes on between Lectern and learning platforms');
  addSimulateCommand(lti);
  addScoreCommands(lti);
}
