import { shortForms } from '../support/proofs/short-form.js';

await shortForms('crashes');
