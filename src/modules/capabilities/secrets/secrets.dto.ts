import { Text, TextList } from '../../../platform/http/fields/fields.js';

export class PutSecretDto {
  @Text({
    min: 8, max: 8_192, singleLine: true, doc: 'The value: one line. Nobody reads it again, and connectors show it to `origins` alone.',
  })
  value!: string;

  @TextList({
    minItems: 1, maxItems: 10, maxLength: 300, example: ['https://api.example.com'],
    doc: 'Where connectors may send it: scheme, host and port, as they stand in the url of the connector.',
  })
  origins!: string[];
}
