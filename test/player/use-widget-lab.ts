import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { startWidgetLab, type WidgetLab, type WidgetPage } from './widget-page.ts';

/** What the tests of one file share; available inside tests. */
export interface WidgetTestFile {
  lab: WidgetLab;
  /** The page that all of them use, one after the other. */
  shared: WidgetPage;
}

/**
 * Opens a browser for the tests of one file and closes it afterwards. Call it at the top of the
 * file.
 */
export function useWidgetLab(): WidgetTestFile {
  const file = {} as WidgetTestFile;
  beforeAll(async () => {
    file.lab = await startWidgetLab();
    file.shared = await file.lab.open();
  });
  afterAll(() => file.lab.close());
  // A widget that throws fails every test, whatever else the test checks.
  beforeEach(({ onTestFinished }) => {
    onTestFinished(async () => expect(await file.shared.failures()).toEqual([]));
  });
  return file;
}
