import { lessonPartsTask } from '../drafts/lesson-parts.ts';
import { lessonTextsTask } from '../exports/lesson-texts.ts';
import { answerColumnsTask } from '../learners/answer-columns.ts';
import { repairFileTask } from '../media/repaired-files.ts';
import {
  convertSourceTask,
  readPackageTask,
  writeGiftTask,
  writeQtiTask,
  writeMarkdownTask,
} from '../packages/package-task.ts';
import { serveTasks } from '../platform/tasks.ts';
import { prepareStored } from '../player/prepare-lesson.ts';
import { contentFaultsTask } from '../publishing/content-faults.ts';
import { copyContentTask } from '../publishing/copy-content.ts';
import { compareVersionsTask } from '../publishing/version-changes.ts';
import { versionTextTask } from '../xapi/interactions.ts';

/* The child process in which all work on the content of tenants runs: see shared/platform/tasks.ts. */

serveTasks({
  readPackage: readPackageTask,
  convertSource: convertSourceTask,
  writeMarkdown: writeMarkdownTask,
  writeGift: writeGiftTask,
  writeQti: writeQtiTask,
  prepareStored,
  repairFile: repairFileTask,
  versionText: versionTextTask,
  answerColumns: answerColumnsTask,
  contentFaults: contentFaultsTask,
  lessonParts: lessonPartsTask,
  lessonTexts: lessonTextsTask,
  compareVersions: compareVersionsTask,
  copyContent: copyContentTask,
});
