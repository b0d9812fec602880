import { expect, test } from 'vitest';
import { readEmbeddingOrigin } from '../../shared/accounts/embedding-origins.ts';
import { frameAncestors, headerOrigin } from '../../shared/platform/parse-url.ts';
import { unsafeUrls } from '../support/unsafe-urls.ts';

test.each([
  ['https://lms.example', 'https://lms.example'],
  [' HTTPS://LMS.Example:443/ ', 'https://lms.example'],
  ['https://lms.example:8443', 'https://lms.example:8443'],
  ['https://münchen.example', 'https://xn--mnchen-3ya.example'],
  ['https://192.0.2.7', 'https://192.0.2.7'],
  ['http://localhost:8080', 'http://localhost:8080'],
  ['http://app.localhost', 'http://app.localhost'],
  ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
])('"%s" is the origin %s', (text, origin) => {
  expect(readEmbeddingOrigin(text)).toEqual({ origin });
});

test.each([
  ['', 'It must be an origin such as https://lms.example.'],
  ['lms.example', 'It must be an origin such as https://lms.example.'],
  ['null', 'It must be an origin such as https://lms.example.'],
  ['ftp://lms.example', 'It must be an origin such as https://lms.example.'],
  ['https://', 'It must be an origin such as https://lms.example.'],
  ['*', 'It must be one origin, without *. Name no origin at all to allow any.'],
  ['https://*.example', 'It must be one origin, without *. Name no origin at all to allow any.'],
  ['https://lms.example/a', 'It must be an origin alone, without a path: https://lms.example'],
  ['https://lms.example?a', 'It must be an origin alone, without a path: https://lms.example'],
  ['https://lms.example#a', 'It must be an origin alone, without a path: https://lms.example'],
  ['https://ada:secret@lms.example', 'It must not hold a name or a password.'],
  ['https://[2001:db8::1]', 'Browsers allow no IPv6 address here. Give the host by its name.'],
  [
    'http://lms.example',
    'It must begin with https://. Only loopback may be http, such as http://localhost:8080.',
  ],
  [
    'http://127.0.0.1.example',
    'It must begin with https://. Only loopback may be http, such as http://localhost:8080.',
  ],
])('"%s" is rejected', (text, fault) => {
  expect(readEmbeddingOrigin(text)).toEqual({ fault });
});

test.each(unsafeUrls)('an origin that would end or widen a CSP directive is rejected: %s', (text) => {
  expect(readEmbeddingOrigin(text)).toEqual({ fault: expect.any(String) as string });
  expect(headerOrigin(text)).toBeNull();
  expect(frameAncestors([text])).toBe("frame-ancestors 'none'");
});

test.each([
  ['https://lms.example/course?a=*;#,', 'https://lms.example'],
  ['https://ada;b:secret@LMS.example:443', 'https://lms.example'],
  ['http://moodle.internal:8080/a', 'http://moodle.internal:8080'],
  ['https://my_school.example', 'https://my_school.example'],
  ['https://münchen.example/', 'https://xn--mnchen-3ya.example'],
  ['https://[2001:DB8::1]:8443/', 'https://[2001:db8::1]:8443'],
  ['\n https://lms.ex\tample', 'https://lms.example'],
])('the origin of %j for a header is %s', (text, origin) => {
  expect(headerOrigin(text)).toBe(origin);
  expect(frameAncestors([origin])).toBe(`frame-ancestors ${origin}`);
});
