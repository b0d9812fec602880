import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { IconName } from '../kit/icon.tsx';

/** Something that the command palette offers. */
export interface Command {
  label: string;
  icon: IconName;
  /** What it belongs to, such as the title of a lesson. */
  detail?: string;
  run: () => unknown;
}

/** The commands of the open page. */
export const pageCommands = signal<readonly Command[]>([]);

/** Offers commands while a page is open. @param key changes with the commands */
export function useCommands(commands: readonly Command[], key: string): void {
  useEffect(() => {
    pageCommands.value = commands;
    return () => {
      pageCommands.value = [];
    };
    // The key stands for the commands, whose functions are new each time.
  }, [key]);
}
