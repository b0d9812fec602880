import { expect, test } from 'vitest';
import { presign } from '../../shared/storage/s3/presign.ts';
import type { S3Settings } from '../../shared/storage/s3/settings.ts';

/** Of the example in "Authenticating Requests: Using Query Parameters", in Amazon's reference of the S3 API. */
const credentials = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const options = { seconds: 86_400, at: new Date('2013-05-24T00:00:00Z'), query: {} };
const settings: S3Settings = {
  kind: 's3',
  endpoint: 'https://s3.amazonaws.com',
  bucket: 'examplebucket',
  region: 'us-east-1',
  accessKeyId: undefined,
  secretAccessKey: undefined,
  prefix: '',
  forcePathStyle: false,
  presignedReads: true,
};

test("Amazon's own example gets the signature that Amazon gives for it", () => {
  const address = new URL(presign(settings, credentials, 'test.txt', options));
  expect(address.origin + address.pathname).toBe('https://examplebucket.s3.amazonaws.com/test.txt');
  expect(Object.fromEntries(address.searchParams)).toStrictEqual({
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': 'AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request',
    'X-Amz-Date': '20130524T000000Z',
    'X-Amz-Expires': '86400',
    'X-Amz-SignedHeaders': 'host',
    'X-Amz-Signature': 'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
  });
});

test.each([
  [{ endpoint: undefined }, 'https://examplebucket.s3.us-east-1.amazonaws.com/a/b'],
  [{ endpoint: undefined, region: 'cn-north-1' }, 'https://examplebucket.s3.cn-north-1.amazonaws.com.cn/a/b'],
  [{ endpoint: undefined, forcePathStyle: true }, 'https://s3.us-east-1.amazonaws.com/examplebucket/a/b'],
  [{ endpoint: 'http://[::1]:9000', forcePathStyle: true }, 'http://[::1]:9000/examplebucket/a/b'],
  [
    { endpoint: 'http://h.example:9000/s3/', forcePathStyle: true },
    'http://h.example:9000/s3/examplebucket/a/b',
  ],
  [{ prefix: 'one/two/' }, 'https://examplebucket.s3.amazonaws.com/one/two/a/b'],
] satisfies [Partial<S3Settings>, string][])('with %o an object is at %s', (changes, expected) => {
  expect(presign({ ...settings, ...changes }, credentials, 'a/b', options).split('?')[0]).toBe(expected);
});

test('the token of a role is part of the address', () => {
  const address = presign(settings, { ...credentials, sessionToken: 'a+b=' }, 'a', options);
  expect(new URL(address).searchParams.get('X-Amz-Security-Token')).toBe('a+b=');
});
