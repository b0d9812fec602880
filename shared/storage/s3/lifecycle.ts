import {
  GetBucketLifecycleConfigurationCommand,
  PutBucketLifecycleConfigurationCommand,
} from '@aws-sdk/client-s3';
import type { GetBucketLifecycleConfigurationOutput, LifecycleRule } from '@aws-sdk/client-s3';
import { Bucket } from './bucket.ts';
import { hasName } from './faults.ts';
import { layoutVersion } from './s3-store.ts';
import { defaultLimits } from './settings.ts';
import type { S3Settings } from './settings.ts';

const ruleId = 'lectern-abandoned-uploads';

/** Longer than any build (EXPORT_BUILD_SECONDS). */
const abandonedDays = 2;

/** The lifecycle rule by which the bucket itself removes the uploads of processes that were killed. */
export class BucketLifecycle {
  readonly #bucket: Bucket;
  readonly #prefix: string;

  constructor(settings: S3Settings) {
    this.#bucket = new Bucket(settings, { ...defaultLimits, maxAttempts: 3 });
    this.#prefix = `${settings.prefix}${layoutVersion}/`;
  }

  /** Returns whether the bucket has such a rule, from Lectern or by hand. */
  async hasRule(): Promise<boolean> {
    const { Rules = [] } = await this.#read();
    return Rules.some(
      (rule) =>
        rule.Status === 'Enabled' &&
        rule.AbortIncompleteMultipartUpload !== undefined &&
        this.#prefix.startsWith(rule.Filter?.Prefix ?? rule.Filter?.And?.Prefix ?? ''),
    );
  }

  /** Adds the rule to those of the bucket. */
  async addRule(): Promise<void> {
    const { Rules = [], ...kept } = await this.#read();
    const rule: LifecycleRule = {
      ID: ruleId,
      Status: 'Enabled',
      Filter: { Prefix: this.#prefix },
      AbortIncompleteMultipartUpload: { DaysAfterInitiation: abandonedDays },
    };
    const rules = [...Rules.filter(({ ID }) => ID !== ruleId), rule];
    const command = new PutBucketLifecycleConfigurationCommand({
      ...this.#bucket.bucket(),
      ...kept,
      LifecycleConfiguration: { Rules: rules },
    });
    await this.#bucket.call(this.#bucket.client.send(command));
  }

  async #read(): Promise<GetBucketLifecycleConfigurationOutput> {
    const reading = this.#bucket.client.send(
      new GetBucketLifecycleConfigurationCommand(this.#bucket.bucket()),
    );
    const { Rules, TransitionDefaultMinimumObjectSize } = await this.#bucket.call(
      reading.catch((error: unknown) => {
        if (hasName(error, 'NoSuchLifecycleConfiguration'))
          return { Rules: [], TransitionDefaultMinimumObjectSize: undefined };
        throw error;
      }),
    );
    return { Rules, ...(TransitionDefaultMinimumObjectSize && { TransitionDefaultMinimumObjectSize }) };
  }
}
