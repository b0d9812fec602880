import { decodeJwt, decodeProtectedHeader } from 'jose';
import { markup } from '../../shared/platform/html.ts';
import type { Html } from '../../shared/platform/html.ts';
import type { Message } from '../journal.ts';
import type { Platform } from '../platform.ts';
import { page } from './layout.ts';

/** Lists all messages, the newest first. */
export function messagesPage({ journal }: Platform): string {
  const items = journal.messages.toReversed().map(messageItem);
  const none = markup`<p class="soft">None yet.</p>`;
  const list = items.length === 0 ? none : markup`<ol class="plain messages">${items}</ol>`;
  return page({ title: 'Messages', main: markup`<div class="card">${list}</div>` });
}

function messageItem({ at, kind, accepted, summary, content }: Message): Html {
  const good = markup`<span class="good">accepted</span>`;
  const outcome = accepted ? good : markup`<span class="bad">rejected</span>`;
  const time = at.toISOString();
  return markup`<li><details>
<summary><time class="soft small" datetime="${time}">${time.slice(11, 23)}</time>
<strong>${kind}</strong> ${outcome} ${summary}</summary>
<pre tabindex="0">${JSON.stringify(readable(content), null, 2)}</pre>
</details></li>
`;
}

/** Decodes JSON and tokens in texts, at any depth. */
function readable(value: unknown): unknown {
  if (typeof value === 'string') return decoded(value);
  if (Array.isArray(value)) return value.map(readable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, readable(part)]));
}

function decoded(text: string): unknown {
  if (/^[\w-]+\.[\w-]+\.[\w-]*$/.test(text)) {
    try {
      return { header: decodeProtectedHeader(text), claims: decodeJwt(text) };
    } catch {
      return text;
    }
  }
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : text;
  } catch {
    return text;
  }
}
