import { writeFile } from 'node:fs/promises';
import { sampleSteps, writePictures } from './lesson.ts';
import type { SampleStep } from './lesson.ts';
import { join } from 'node:path';

/** Writes the minimum: an HTML page with the whole lesson, without scripts, which shows the first step. */
export async function writeBarePage(folder: string): Promise<void> {
  await writePictures(join(folder, 'pictures'));
  await writeFile(
    join(folder, 'bare.html'),
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sample</title>
<style>img { max-width: 100%; }</style>
</head>
<body>
${sampleSteps.map(section).join('\n')}
</body>
</html>
`,
  );
}

/** Returns a step. Pictures of hidden steps are lazy, so they are not loaded. */
function section(
  { title, before, picture: { name, alt, caption }, after }: SampleStep,
  index: number,
): string {
  const [hidden, lazy] = index === 0 ? ['', ''] : [' hidden', ' loading="lazy"'];
  const picture = `<img src="pictures/${name}" alt="${alt}"${lazy}>`;
  return `<section${hidden}>
<h1>${title}</h1>
${before}
<figure>${picture}<figcaption>${caption}</figcaption></figure>
${after}
</section>`;
}
