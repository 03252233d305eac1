"""Many: 30, 100 and 1,000 mirrors of a topic of one partition each, on one worker."""
